#include "tools/make_corpus/lexicon.hpp"

#include <array>
#include <cstddef>

namespace titan::corpus {

namespace {

constexpr std::array<Topic, 18> kTopics = {{
    {"the press",
     "page line book paper word story reader press ink title cover author letter printer library shelf novel poem "
     "chapter editor journal newspaper headline column report reporter photograph picture map index preface copy "
     "edition volume binding thread glue leather cloth board spine margin type font proof error draft manuscript "
     "typewriter pen pencil desk lamp archive record letterbox stamp envelope card diary notebook catalogue "
     "publisher bookshop price review critic translation language dictionary grammar phrase sentence paragraph "
     "quotation note footnote table chart legend myth fable essay biography history",
     "read correct type describe write print copy bind sign edit translate publish report quote borrow return "
     "collect illustrate review fold trim stack order deliver discover",
     "early thin rare long short printed written thick common famous blank unknown late final modern ancient "
     "careful bold plain clear faded torn foreign daily weekly"},
    {"the railway",
     "line train station track platform engine rail signal driver guard ticket bridge tunnel carriage wheel "
     "passenger luggage whistle timetable journey coal steam boiler piston brake sleeper switch junction freight "
     "wagon porter clerk window seat compartment conductor crossing gate lamp flag clock bench waiting suitcase "
     "trunk parcel mail express local depot yard crane mechanic fireman furnace valve gauge lever oil grease spark "
     "cloud valley embankment cutting viaduct border city village town route map fare queue crowd arrival "
     "departure delay",
     "start wait travel stop depart arrive board carry inspect signal deliver repair connect cross pull push load "
     "stoke couple brake hurry shout check announce delay",
     "early late fast slow long direct iron regular distant heavy empty crowded busy smoky loud steep straight "
     "curved single double mechanical punctual tired sleepy northern"},
    {"the house",
     "key room door window wall table bed fire child roof house floor stair kitchen chair lamp lock chimney carpet "
     "curtain mirror picture clock shelf cupboard drawer box basket blanket pillow sheet towel soap bath tap pipe "
     "brick stone tile beam plank nail paint plaster cellar attic corridor hall porch balcony terrace garden gate "
     "fence step bell letterbox family mother father brother sister uncle aunt cousin grandmother grandfather baby "
     "neighbour guest servant cat dog mouse bird cage toy doll ball game holiday birthday present supper candle "
     "story dream sleep morning evening",
     "live wake clean dust lock enter wash open close sleep sweep knock paint mend decorate move rent visit "
     "welcome gather rest dream listen laugh wait",
     "new old cold quiet clean small large warm cosy dusty dark empty bright wooden low high narrow wide broken "
     "painted friendly noisy peaceful familiar comfortable"},
    {"the garden",
     "path tree wall leaf rose gate pond flower seed soil root garden hedge lawn branch bush bench fountain shed "
     "spade rake hose pot bed lily tulip daisy violet poppy orchid fern moss ivy oak elm birch maple willow pine "
     "cedar acorn cone bark trunk twig bud petal stem thorn bulb weed worm snail beetle butterfly bee bird nest "
     "robin sparrow squirrel hedgehog frog toad shade sun rain dew frost spring summer autumn winter gardener "
     "glove basket ladder greenhouse compost mulch trellis vine herb lavender sage thyme",
     "plant dig weed rake wither water grow prune bloom trim climb sprout gather smell shade spread flower cut mow "
     "bury cover protect choose arrange admire",
     "red white pink green fresh yellow purple blue leafy shady sunny fragrant tall wild tender delicate bare "
     "thorny damp rich early late quiet lovely evergreen"},
    {"the kitchen",
     "cook pot pan bread table butter oven soup salt spoon flour sugar egg knife milk onion garlic pepper sauce "
     "stew cake pie pastry dough yeast recipe bowl plate cup glass jug kettle stove flame smoke chimney cupboard "
     "shelf jar lid ladle fork tray basket napkin apron sink tap towel broom bucket candle lamp dinner supper "
     "breakfast lunch guest feast meal cream cheese ham bacon sausage chicken fish rice noodle pea bean carrot "
     "potato tomato lemon apple berry jam honey tea coffee biscuit pudding vinegar oil spice mint parsley",
     "cook bake fry stir pour serve chop boil taste mix peel slice roast heat cool wash season knead measure grate "
     "melt simmer toast whisk share",
     "hot sour warm fresh sweet bitter salty tender raw baked fried crisp creamy spicy golden hungry clean greasy "
     "cold burnt tasty smooth thick thin plain"},
    {"the forest",
     "path tree leaf deer bear trail fire wood bird wolf fox hunter camp branch oak pine stream hill cave rock "
     "moss fern mushroom berry owl hawk eagle crow woodpecker nest squirrel rabbit hare badger beaver otter boar "
     "stag fawn track paw tail feather antler den burrow hollow log stump trunk root bark acorn cone needle "
     "thicket clearing meadow valley ridge shadow silence moon star night dawn dusk mist frost axe bow arrow trap "
     "snare tent blanket lantern kettle guide ranger cabin bridge ford spring waterfall pond marsh",
     "follow hunt hide track chop burn rest walk climb gather camp wander listen watch howl growl nest dig leap "
     "chase escape discover whisper rustle shelter",
     "wild tall dark deep silent green thick ancient lonely damp shady hidden fierce swift gentle grey brown "
     "northern mossy hollow fallen narrow steep quiet strange"},
    {"the river",
     "stream mill dam stone sand reed river water bank boat fish flood mud bridge duck swan heron otter beaver "
     "trout salmon eel pike perch net rod hook line bait worm ferry raft barge canal lock gate weir waterfall "
     "rapid pool pond lake marsh delta mouth source spring valley meadow willow ripple current depth width bed "
     "island ford path fisherman angler miller wheel pump pipe well bucket bottle thirst rain melt snow ice summer "
     "village town city port sea tide salt",
     "flow row wade pour leak cross fish swim flood float drift splash fill drain dam bend widen rush trickle "
     "freeze reflect carry wash paddle dive",
     "shallow wide slow clear cold winding deep calm narrow swift muddy rough frozen wet green blue silver gentle "
     "fresh northern upper lower steep rocky peaceful"},
    {"the weather",
     "wind rain cloud sun ice heat cold storm snow sky frost thunder lightning season summer winter spring autumn "
     "morning evening night day week month temperature thermometer barometer pressure forecast report station "
     "balloon satellite radar map front breeze gale hurricane drought flood river dam umbrella coat boot puddle "
     "drop flake icicle hail mist fog haze dew rainbow shadow horizon climate region coast valley hill mountain "
     "plain desert degree record average warning shelter roof gutter drain",
     "change rain blow record cover snow melt cool warm predict freeze measure clear gather pass fall flood soak "
     "dry warn clash settle vanish return darken",
     "cold wet dry mild light warm windy cloudy stormy severe sunny heavy sudden humid frosty icy dark bright "
     "clear grey gentle bitter tropical usual daily"},
    {"the harbour",
     "port net rope tide crew sail shore boat sailor anchor pier wave harbour captain fisher mast deck ship "
     "lighthouse cargo crate barrel island gull lantern fog reef voyage storm current dock ferry oar bay beach "
     "buoy cabin canal chart coast compass crab customs diver engine flag freight gale hull inlet jetty keel knot "
     "lagoon ladder log mackerel mate merchant mooring pilot plank propeller quay raft rudder salt seal shell "
     "sloop steamer tar tunnel vessel wharf winch",
     "load sail row land anchor float fish steer drift signal repair launch haul tow cross board guide unload "
     "depart explore measure rescue paint report return",
     "salty deep calm windy distant rough coastal foggy northern southern wooden heavy wet shallow floating rusty "
     "safe crowded narrow sunken marine brave drifting grey foreign"},
    {"the farm",
     "field seed cow fence wheat hay pig barn horse goat farmer plough harvest sheep hen egg milk butter cheese "
     "meadow orchard apple pear plum corn barley oat straw tractor cart wagon stable pasture well pump bucket "
     "shovel rake hoe scythe sickle granary mill miller flour dairy calf lamb duck turkey beehive honey bee hedge "
     "ditch gate soil manure crop turnip carrot onion bean pea potato cabbage pumpkin vine grape market drought "
     "frost acre stall shepherd foal rooster shed furrow silo",
     "sort plant feed sow store milk water gather thresh harvest plough graze pick dry grind deliver clear pile "
     "mend weigh breed collect trade fence rest",
     "early healthy tame ripe rural dusty fertile green fresh muddy golden hungry sweet dry rich plain sturdy "
     "hardy weedy woolly thirsty yearly seasonal fallow organic"},
    {"the school",
     "test book class desk paper word pupil lesson pencil chalk board question teacher answer letter story map "
     "globe subject history science grammar essay page chapter library bell yard playground hall stair corridor "
     "window bench ruler notebook pen ink satchel uniform lunch break term holiday report mark grade prize rule "
     "principal student college lecture exam degree professor tutor scholar poem verse spelling sentence alphabet "
     "number sum fraction triangle circle square angle diagram experiment laboratory problem solution example "
     "exercise meaning idea",
     "ask listen copy count recite teach learn explain repeat study answer spell discuss practise solve correct "
     "attend pass fail mark compare describe remember notice help",
     "correct quiet clear clever careful strict patient easy simple wrong lazy difficult curious young bright "
     "useful wise eager noisy proud shy honest polite ready modern"},
    {"the market",
     "shop stall trade weight price buyer coin money goods scale market seller merchant basket customer crowd "
     "street square bargain profit loss debt loan bank account clerk receipt bill tax wage silver gold copper "
     "purse wallet counter shelf window sign owner apprentice baker butcher grocer tailor jeweller cloth silk wool "
     "leather spice tea sugar salt grain fruit cheese fish meat bread sack box barrel cart donkey porter tent "
     "awning lamp auction bid offer demand supply stock store share ledger contract partner guild fair",
     "order buy trade pay owe count offer sell weigh bargain open close borrow lend save earn spend deliver "
     "display wrap charge value supply demand collect",
     "local dear poor rare cheap busy fair honest rich costly common fresh foreign loud crowded cloudy weekly "
     "daily annual valuable worthless greedy careful small large"},
    {"the workshop",
     "tool nail wheel saw wood board bench screw drill iron steel smith hammer carpenter plank joint hinge handle "
     "lock key chain bolt nut washer spring gear lever pulley axle rope wire cable file chisel plane vice clamp "
     "glue paint brush varnish sandpaper ruler level square pencil plan drawing model pattern mould forge furnace "
     "anvil bellows tongs spark coal metal copper brass tin lead glass sheet pipe tube valve pump engine motor "
     "battery switch machine part repair apprentice master shop apron glove goggle dust shaving",
     "build cut fix sand saw drill join paint hammer measure repair polish bend forge turn fit carve file glue "
     "fasten sharpen test design weld assemble",
     "metal weak sharp blunt strong flat round square hollow wooden rough smooth solid tight loose rusty heavy "
     "precise useful broken new spare simple skilled careful"},
    {"the mountain",
     "path hill rock stone rope ice mountain peak valley climber snow cliff cave glacier ridge slope summit camp "
     "tent boot axe map guide compass stream waterfall lake meadow goat eagle bear pine fir cedar shepherd flock "
     "hut cabin fire lamp pass bridge gorge canyon crevice ledge boulder pebble gravel avalanche storm wind cloud "
     "mist sun shadow dawn dusk height distance depth breath strength danger rescue helicopter sledge dog ski pole "
     "glove coat scarf blanket food bread cheese soup kettle village church bell",
     "rest descend rise fall reach watch climb walk slip rescue camp cross guide carry pull push melt freeze echo "
     "gaze survive explore struggle shelter return",
     "cold thin high steep rocky icy safe distant lonely snowy narrow dangerous grey white clear sharp brave tired "
     "strong rough frozen windy silent northern lofty"},
    {"the music room",
     "song note bell music singer violin drum harp trumpet horn choir piano flute guitar band orchestra conductor "
     "concert stage audience hall ticket tune melody rhythm beat chord scale key string bow reed pedal keyboard "
     "sheet page stand baton verse chorus refrain lyric voice alto tenor bass soprano duet solo quartet symphony "
     "opera ballet dance dancer waltz march lullaby hymn carol composer player listener teacher lesson practice "
     "performance applause curtain costume spotlight microphone speaker record radio festival programme prize",
     "sing play listen dance hum perform record tune compose conduct practise whistle repeat applaud rehearse "
     "strum beat pluck echo follow lead learn teach write enjoy",
     "loud soft quiet slow sad low quick gentle lively deep high cheerful sweet clear famous musical golden solemn "
     "simple rhythmic graceful bright modern ancient silent"},
    {"the sky",
     "star sun comet light night planet moon sky orbit earth telescope galaxy observatory astronomer lens mirror "
     "rocket satellite crater ring eclipse meteor cloud dust gas distance gravity mass speed force energy heat "
     "spectrum colour signal antenna probe lander rover module astronaut suit helmet capsule launch pad fuel stage "
     "engine window instrument camera image map chart catalogue calendar month year season tide horizon dawn dusk "
     "axis pole equator shadow surface mountain plain valley volcano ice atmosphere pressure temperature element "
     "hydrogen helium iron carbon crystal theory observation discovery century universe",
     "shine record glow observe orbit rotate discover explore travel measure launch calculate drift collide "
     "explode predict photograph map reflect compare approach rise name study turn",
     "cold hot bright distant dark faint round massive tiny solar lunar visible invisible ancient red blue white "
     "circular steady rapid vast cosmic rocky icy gaseous"},
    {"the clinic",
     "bed pain wound needle doctor nurse patient clinic fever bandage medicine illness cough hospital pill dose "
     "syrup ointment bottle label ward surgeon operation knife mask glove gown lamp chart pulse heart lung blood "
     "bone muscle skin nerve brain stomach liver kidney eye ear nose throat tooth tongue hand arm leg foot knee "
     "shoulder back neck head finger toe rash burn fracture sprain infection germ vaccine diet sleep rest exercise "
     "visit appointment record test result symptom cure treatment ambulance stretcher crutch wheelchair pharmacy "
     "recovery health",
     "heal rest recover clean treat examine bandage bleed wash cough measure sneeze test record visit prescribe "
     "operate improve suffer ache protect prevent advise comfort breathe",
     "healthy weak pale sore clean sick strong painful calm careful sterile sharp chronic mild serious urgent "
     "young old tired gentle medical broken swollen feverish patient"},
    {"the court",
     "case law court jury trial thief guard police judge witness crime prison evidence lawyer proof verdict "
     "sentence appeal rule statute contract clause right duty property owner claim debt fine penalty oath "
     "testimony record clerk document letter seal signature paper file bench robe hammer hall council mayor "
     "citizen vote election party speech debate motion bill treaty minister king queen crown kingdom state nation "
     "border custom tax office officer secretary assembly member majority minority president governor province "
     "county district town constitution justice freedom peace order",
     "rule prove defend sign claim deny confess argue accuse arrest release judge vote elect govern obey order "
     "allow punish pardon settle debate question record appeal",
     "public private free equal formal legal fair strict royal guilty innocent official just civil criminal common "
     "written honest false true severe lenient national final powerful"},
}};

}  // namespace

std::span<const Topic> topics() { return kTopics; }

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::size_t end = list.find(' ');
    if (end != 0) words.push_back(list.substr(0, end));
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
  return words;
}

}  // namespace titan::corpus
